package wire

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// decompress restores a reply that was compressed although clients ask for it uncompressed,
// as some proxies do.
func decompress(resp *http.Response) error {
	switch encoding := resp.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		resp.Body = &gzipBody{ReadCloser: resp.Body}
		resp.Header.Del("Content-Encoding")
		resp.ContentLength = -1
	default:
		return errors.Join(fmt.Errorf("the reply has the encoding %q, which was not requested", encoding), resp.Body.Close())
	}
	return nil
}

// gzipBody decompresses a body.
type gzipBody struct {
	io.ReadCloser
	text *gzip.Reader // nil until the first Read
}

func (b *gzipBody) Read(p []byte) (int, error) {
	if b.text == nil {
		var err error
		if b.text, err = gzip.NewReader(io.LimitReader(b.ReadCloser, MaxReply)); err != nil {
			return 0, err // io.EOF for an empty body
		}
	}
	return b.text.Read(p)
}
