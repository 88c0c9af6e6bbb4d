package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// policy lets a page load and run only what the server itself gives. Bars and colors of
// cells are attributes of style, which no script reads.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// tokenCookie holds the token of a browser that gave it once.
const tokenCookie = "orbench"

// cookieName is the name of a cookie of this server. Browsers do not tell the ports of a
// host apart, so the name has the port.
func cookieName(r *http.Request, name string) string {
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		name += "-" + port
	}
	return name
}

// Bounds of the query of an address. Each study that it names is looked at, and each value
// stands in links of the page.
const (
	mostQuery      = 8 << 10
	mostParameters = 100
)

// guarded checks each request before it is served: its host, its origin if it writes, and
// its token.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w = steady{w}
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case !slices.Contains(s.Hosts, r.Host):
			s.refuse(w, r, http.StatusMisdirectedRequest, "The server does not have this address. Open the one that it printed when it started.")
			return
		case len(r.URL.RawQuery) > mostQuery || strings.Count(r.URL.RawQuery, "&") >= mostParameters:
			s.refuse(w, r, http.StatusBadRequest, fmt.Sprintf("The address has more than %d parameters, or more than %d bytes of them. Choose fewer studies or conditions.", mostParameters, mostQuery))
			return
		case r.Method != http.MethodGet && r.Method != http.MethodHead && !s.own(r):
			s.refuse(w, r, http.StatusForbidden, "A request that writes must come from a page of this server.")
			return
		case s.Token != "" && !strings.HasPrefix(r.URL.Path, static) && !s.admitted(w, r):
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, mostBody)
		next.ServeHTTP(w, r)
	})
}

// own reports whether a request comes from a page of the server.
func (s *Server) own(r *http.Request) bool {
	if s.ReadOnly {
		return false
	}
	origin, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && origin.Host == r.Host && slices.Contains([]string{"", "same-origin"}, r.Header.Get("Sec-Fetch-Site"))
}

// admitted reports whether a request has the token, as a cookie or, once, as a parameter of
// its address, which is then taken out of the address.
func (s *Server) admitted(w http.ResponseWriter, r *http.Request) bool {
	cookie, err := r.Cookie(cookieName(r, tokenCookie))
	if err == nil && same(cookie.Value, s.Token) {
		return true
	}
	q := r.URL.Query()
	if !same(q.Get("token"), s.Token) {
		s.refuse(w, r, http.StatusUnauthorized, "The server asks each browser once for its token. Open the address that orbench serve printed, with the token at its end.")
		return false
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName(r, tokenCookie), Value: s.Token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil})
	q.Del("token")
	r.URL.RawQuery = q.Encode()
	http.Redirect(w, r, r.URL.RequestURI(), http.StatusSeeOther)
	return false
}

// same compares two secrets in a time that does not tell how alike they are.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
