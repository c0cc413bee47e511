package hooks

import (
	"context"

	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/review"
)

// Variables are where common servers say who pushes. A name from here is written
// to the audit log as not proved, unless the host trusts the variable by name
// (evolve.pusherVariable): whoever can set the environment of receive-pack can
// set these.
var Variables = [...]struct{ Name, Server, Source string }{
	{"GL_USER", "gitolite", "gitolite's documentation, hooks: \"GL_USER\""},
	{"GITEA_PUSHER_NAME", "Gitea, Forgejo", "modules/repository/env.go, EnvPusherName"},
	{"GL_USERNAME", "GitLab", "GitLab's documentation, server hooks: environment variables"},
	{"REMOTE_USER", "git http-backend behind a web server", "git-http-backend(1); RFC 3875, 4.1.11"},
	{"KRB5PRINCIPAL", "sshd with GSSAPI", "sshd's PAM environment"},
	{"USER", "sshd with an account for each person", "login(1)"},
}

// unproved follows a name that nobody vouches for.
const unproved = " (unproved)"

// pusher is who pushes: the signer of the push, else what the variable that the
// host has mapped says, else, for the audit log only, a guess.
func (h *hook) pusher(ctx context.Context, updates []update) review.Pusher {
	if p, ok := h.signedPush(ctx, updates); ok {
		return p
	}
	if v := h.policy.PusherVariable; v != "" {
		if name := getenv(h.in.Env, v); review.IsPrincipal(name) {
			return review.Pusher{Name: name, Authenticated: true}
		}
		return review.Pusher{Name: "unknown" + unproved}
	}
	for _, v := range Variables {
		if name := getenv(h.in.Env, v.Name); review.IsPrincipal(name) {
			return review.Pusher{Name: name + unproved}
		}
	}
	return review.Pusher{Name: "unknown" + unproved}
}

// signedPush reads and verifies the certificate of a signed push.
func (h *hook) signedPush(ctx context.Context, updates []update) (review.Pusher, bool) {
	id := getenv(h.in.Env, "GIT_PUSH_CERT")
	if id == "" {
		return review.Pusher{}, false
	}
	data, err := h.repo.ReadBlob(ctx, gitrepo.ID(id), review.MaxPushCert)
	if err != nil {
		return review.Pusher{}, false
	}
	cert := review.PushCert{
		Data: data, Nonce: getenv(h.in.Env, "GIT_PUSH_CERT_NONCE"), NonceStatus: getenv(h.in.Env, "GIT_PUSH_CERT_NONCE_STATUS"),
	}
	for _, u := range updates {
		cert.Updates = append(cert.Updates, u.line)
	}
	return review.CertifiedPusher(h.repo, h.policy, cert, h.in.Now())
}
