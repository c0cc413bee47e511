package runtime

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// Elicitor asks the user on behalf of a server. With one, the capability is
// declared to every server.
type Elicitor interface {
	Elicit(ctx context.Context, e Elicitation) (ElicitAnswer, error)
}

// Elicitation is what a server wants of the user. Its texts are the server's
// own and must be shown as such.
type Elicitation struct {
	Session, ServerID string
	// Mode is "form", with a Schema for the answer, or "url", with a URL for
	// the user to open. The URL has not been judged.
	Mode    string
	Message string
	Schema  json.RawMessage
	URL     string
}

// ElicitAnswer is what the user decided.
type ElicitAnswer struct {
	// Action is "accept", "decline" or "cancel"; anything else cancels.
	Action string
	// Content answers a form that was accepted: a JSON object.
	Content json.RawMessage
}

// elicitor answers one connection's elicitations.
type elicitor struct {
	Elicitor
	session, server string
}

var _ client.ElicitationHandler = elicitor{}

// Elicit implements mcp-go's handler.
func (e elicitor) Elicit(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	out := Elicitation{
		Session: e.session, ServerID: e.server, Mode: r.Params.Mode, Message: r.Params.Message, URL: r.Params.URL,
	}
	if out.Mode == "" {
		out.Mode = mcp.ElicitationModeForm
	}
	out.Schema, _ = json.Marshal(r.Params.RequestedSchema)
	answer, err := e.Elicitor.Elicit(ctx, out)
	if err != nil {
		return nil, err
	}
	result := &mcp.ElicitationResult{}
	switch action := mcp.ElicitationResponseAction(answer.Action); action {
	case mcp.ElicitationResponseActionAccept:
		result.Action = action
		if len(answer.Content) > 0 {
			result.Content = answer.Content
		}
	case mcp.ElicitationResponseActionDecline:
		result.Action = action
	default:
		result.Action = mcp.ElicitationResponseActionCancel
	}
	return result, nil
}
