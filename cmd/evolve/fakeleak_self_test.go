package main

import "testing"

// The checker of the stories finds every way of leaking that the fake server has:
// else it would prove nothing.
func TestEveryLeakIsSeen(t *testing.T) {
	const secret = `Xq7-very+secret/va"lue\9f31&of=zz8Ku`
	for _, said := range leaks(secret) {
		if leaked(secret, "before "+said+" after") == "" {
			t.Errorf("not seen: %q", said)
		}
	}
	if part := leaked(secret, "a text with <redacted> in it"); part != "" {
		t.Errorf("seen where there is none: %q", part)
	}
}
