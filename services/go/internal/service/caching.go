package service

import (
	"net/http"
	"strings"
)

// cacheControl is the field Cache-Control of replies that caches may keep (RFC 9111 section
// 5.2.2), by http_cache: a caller's cache asks before each use, a proxy does not for an hour.
var cacheControl = map[string]string{
	"revalidate": "no-cache",
	"proxy":      "public, max-age=3600",
}

// allowCaches gives a good reply the fields that caches read, and answers 304 where the caller
// has that reply (RFC 9110 section 15.4.5); it returns whether it did. Operations without a tag
// are left alone.
func (r *rest) allowCaches(w http.ResponseWriter, request *http.Request, tag string) bool {
	control, isOn := cacheControl[r.httpCache]
	if !isOn || tag == "" {
		return false
	}
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", control)
	if !isKnown(request.Header.Values("If-None-Match"), tag) {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}

// isKnown compares weakly (RFC 9110 section 13.1.2).
func isKnown(lines []string, tag string) bool {
	own := strings.TrimPrefix(tag, "W/")
	for known := range strings.SplitSeq(strings.Join(lines, ","), ",") {
		known = strings.TrimSpace(known)
		if known == "*" || strings.TrimPrefix(known, "W/") == own {
			return true
		}
	}
	return false
}
