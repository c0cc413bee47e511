package stdio

import "golang.org/x/sys/unix"

// waitLeader returns when the leader is dead, and leaves it to be reaped: until
// then its number, which is the group's, belongs to nobody else.
func (g *group) waitLeader() {
	queue, err := unix.Kqueue()
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(queue) }()
	unix.CloseOnExec(queue)
	change := []unix.Kevent_t{{
		Ident: uint64(g.id), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_ONESHOT, Fflags: unix.NOTE_EXIT,
	}}
	for {
		_, err := unix.Kevent(queue, change, make([]unix.Kevent_t, 1), nil)
		if err != unix.EINTR {
			return // it is dead, also if there was nothing left to watch
		}
	}
}
