package stdio

import "golang.org/x/sys/unix"

// waitLeader returns when the leader is dead, and leaves it to be reaped: until
// then its number, which is the group's, belongs to nobody else.
func (g *group) waitLeader() {
	for {
		err := unix.Waitid(unix.P_PID, g.id, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}
