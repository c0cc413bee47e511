package gitrepo

import "context"

// maxNearby is how many commits are read one by one before Git is asked: most
// moves are of a few commits, and a process costs as much as some hundred reads.
const maxNearby = 64

// nearby lists the commits of base..tip, newest first, where they are few and
// base closes all ways into the past; then base is also an ancestor of tip. ok is
// false where that is not so, or a commit cannot be read: then Git must say.
func (r *Repo) nearby(ctx context.Context, base, tip ID) (ids []ID, ok bool) {
	if base == "" || tip == "" {
		return nil, false
	}
	seen := map[ID]bool{base: true, tip: true}
	if base == tip {
		return nil, true
	}
	met := false
	queue := []ID{tip}
	for i := 0; i < len(queue); i++ {
		if i >= maxNearby {
			return nil, false
		}
		c, err := r.ReadCommit(ctx, queue[i])
		if err != nil || len(c.Parents) == 0 {
			return nil, false // damaged, or a way past base to a beginning
		}
		ids = append(ids, queue[i])
		for _, p := range c.Parents {
			met = met || p == base
			if !seen[p] {
				seen[p] = true
				queue = append(queue, p)
			}
		}
	}
	return ids, met
}
