package main

import (
	"errors"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// exitStatus is the one table from a kind of failure to the exit status of the
// process. It is printed by every --help and held by a test.
var exitStatus = map[fault.Code]int{
	fault.ApprovalRequired: exitNo,

	fault.Usage: exitUsage,

	fault.RepositoryUnreadable: exitCannot,
	fault.RevisionUnknown:      exitCannot,
	fault.RefInvalid:           exitCannot,
	fault.ConfigInvalid:        exitCannot,
	fault.SigningFailed:        exitCannot,
	fault.IOFailed:             exitCannot,
	fault.GitFailed:            exitCannot,
	fault.Unsupported:          exitCannot,
	fault.DeclarationInvalid:   exitCannot, // lint answers 1 instead
	fault.SurfaceUnreadable:    exitCannot,
	fault.CoreUnknown:          exitCannot,
	fault.WorktreeBusy:         exitCannot,

	fault.TokenMissing:         exitToken,
	fault.TokenMalformed:       exitToken,
	fault.TokenUnknown:         exitToken,
	fault.TokenUntrusted:       exitToken,
	fault.TokenRulesMismatch:   exitToken,
	fault.TokenWrongRepository: exitToken,
	fault.TokenWrongRef:        exitToken,
	fault.TokenRevoked:         exitToken,
	fault.TokenUsed:            exitToken,
	fault.TokenNotYetValid:     exitToken,
	fault.TokenExpired:         exitToken,
	fault.TokenStale:           exitToken,
	fault.ReviewsInsufficient:  exitToken,
	fault.SelfReview:           exitToken,
	fault.RefProtected:         exitToken,

	fault.RefMoved:       exitMoved,
	fault.NotFastForward: exitMoved,

	fault.ValidationFailed: exitValidation,

	fault.Internal:    exitBug,
	fault.Interrupted: exitInterrupted,
}

// The exit statuses.
const (
	exitDone        = 0
	exitNo          = 1
	exitUsage       = 2
	exitCannot      = 3
	exitToken       = 4
	exitMoved       = 5
	exitValidation  = 6
	exitBug         = 70
	exitInterrupted = 130
)

// exitHelp is the table as help prints it.
const exitHelp = `EXIT STATUS:
   0 done             1 the answer is no (changes, lint errors, no approval)
   2 usage            3 could not do it (repository, Git, I/O, unreadable)
   4 token refused    5 the ref moved, or is not a fast-forward
   6 validation failed         70 a bug in evolve       130 interrupted`

// errAnswerNo is returned by a command whose answer is no and whose output already
// says why: diff --exit-code with changes, lint with errors.
var errAnswerNo = errors.New("the answer is no")

// statusOf maps what a command returned to an exit status.
func statusOf(err error) int {
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errAnswerNo):
		return exitNo
	}
	status, known := exitStatus[fault.CodeOf(err)]
	if !known {
		return exitBug
	}
	return status
}
