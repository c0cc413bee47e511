package runtime

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

func (c *connection) elicitor() client.ElicitationHandler {
	return elicitor{c.host.options.Elicitor, c.session, c.server.ServerID()}
}

// notified takes the server's notifications. It must not block: the server's
// answers come the same way.
func (c *connection) notified(n mcp.JSONRPCNotification) {
	switch n.Method {
	case mcp.MethodNotificationToolsListChanged:
		c.stale.Store(true)
	case "notifications/progress":
		c.progressed(n.Params.AdditionalFields)
	case "notifications/message":
		c.logged(n.Params.AdditionalFields)
	}
}

func (c *connection) progressed(fields map[string]any) {
	token, _ := fields["progressToken"].(float64)
	c.mu.Lock()
	tool, ok := c.calls[int64(token)]
	c.mu.Unlock()
	if !ok {
		return // a call that nobody waits for
	}
	progress, _ := fields["progress"].(float64)
	total, _ := fields["total"].(float64)
	c.tell(Notification{Kind: "progress", Tool: serverText(tool, c.redactor), Progress: progress, Total: total}, fields["message"])
}

func (c *connection) logged(fields map[string]any) {
	level, _ := fields["level"].(string)
	logger, _ := fields["logger"].(string)
	c.tell(Notification{
		Kind: "log", Level: serverText(level, c.redactor), Logger: serverText(logger, c.redactor),
	}, fields["data"])
}

// tell hands a notification to the host. message is text, or any JSON.
func (c *connection) tell(n Notification, message any) {
	if c.host.notes == nil {
		return
	}
	n.Session, n.ServerID = c.session, c.server.ServerID()
	switch m := message.(type) {
	case nil:
	case string:
		n.Message = serverText(m, c.redactor)
	default:
		raw, _ := json.Marshal(m)
		clean, err := c.redactor.RedactJSON(raw)
		if err != nil {
			n.Message = FailedView
			break
		}
		n.Message = serverText(string(clean), c.redactor)
	}
	c.host.notes.put(n)
}
