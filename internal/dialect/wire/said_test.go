package wire

import "testing"

// TestSaid reads the message of error bodies in the shapes that servers send.
func TestSaid(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"error":{"message":"too long","code":"context"}}`:      "too long",
		`{"error":"no such model"}`:                              "no such model",
		`{"message":"not allowed"}`:                              "not allowed",
		`{"detail":"Not Found"}`:                                 "Not Found",
		`{"detail":[{"msg":"missing"}],"message":"bad request"}`: "bad request",
		`{"detail":[{"msg":"missing"}]}`:                         `{"detail":[{"msg":"missing"}]}`,
		`{"error":{"code":400}}`:                                 `{"error":{"code":400}}`,
		"<html>502</html>":                                       "<html>502</html>",
		"":                                                       "",
	} {
		if got, _ := Said([]byte(body)); got != want {
			t.Errorf("%s says %q, want %q", body, got, want)
		}
	}
}
