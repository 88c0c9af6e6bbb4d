package wire

import (
	"bytes"
	"context"
	"net/http"
)

// Post sends a body and reads the whole reply, for tests.
func Post(ctx context.Context, c *http.Client, url string, body []byte) (Reply, error) {
	var into bytes.Buffer
	return post(ctx, c, url, ofJSON, body, &into)
}
