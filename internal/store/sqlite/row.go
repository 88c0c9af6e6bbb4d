package sqlite

import (
	"crypto/sha256"
	"slices"

	json "github.com/go-json-experiment/json/v1"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// kind is a kind of rows, which can be told from all others, and from damaged ones, by
// what is in them.
type kind struct {
	name, table string
	// shape has a letter for each column that a row has on its page: n for none, h for a
	// hash, b for bytes, t for text, i for a number, and ? for one that a row of an older
	// version lacks. Where the last is ?, it is the checksum.
	shape string
	// columns are those that good gives, and the checksum after them where there is one.
	columns string
	// good gives the name of a row, its columns, and the checksum of them. ok is false
	// where the row is not in order by itself; then the name is all that is given.
	good func(v []any) (id string, columns []any, sum int64, ok bool)
}

// kinds are in the order in which they are told of.
var kinds = []kind{
	{"calls", "calls", "nhtt?", "hash, request, response, checksum", func(v []any) (string, []any, int64, bool) {
		was, response := v[1].([]byte), []byte(v[3].(string))
		hash := model.HashCanonical([]byte(v[2].(string)))
		sum := store.Checksum(hash[:], response)
		// A damaged hash follows from the request, where the checksum says that it is the one.
		if hash != store.HashOf(was) && (len(v) < 5 || v[4] != sum) {
			return string(was), nil, 0, false
		}
		var r model.Response
		return string(hash[:]), []any{hash[:], v[2], v[3]}, sum, json.Unmarshal(response, &r) == nil
	}},
	{"failures", "failures", "htt?", "hash, kind, message, checksum", func(v []any) (string, []any, int64, bool) {
		hash := v[0].([]byte)
		return string(hash), v[:3], store.Checksum(hash, []byte(v[1].(string)), []byte(v[2].(string))), true
	}},
	{"pieces of prompts", "pieces", "ht", "hash, prompts", func(v []any) (string, []any, int64, bool) {
		hash := v[0].([]byte)
		return string(hash), v, 0, sha256.Sum256([]byte(v[1].(string))) == store.HashOf(hash)
	}},
	{"datasets", "datasets", "htihb?", "key, about, prompts, sum, pieces, checksum", func(v []any) (string, []any, int64, bool) {
		key, about := v[0].([]byte), []byte(v[1].(string))
		chunks := store.Chunks{Prompts: int(v[2].(int64)), Sum: store.HashOf(v[3].([]byte)), Hashes: v[4].([]byte)}
		return string(key), v[:5], chunks.Checksum(key, about),
			store.KeyOf(about) == store.Key(store.HashOf(key))
	}},
	{"runs", "runs", "tti???", "name, config, saved, datasets, made, checksum", goodRun},
	{"annotations", "annotations", "hit", "id, at, annotation", func(v []any) (string, []any, int64, bool) {
		var a orbench.Annotation
		id := v[0].([]byte)
		return string(id), v, 0, json.Unmarshal([]byte(v[2].(string)), &a) == nil && a.ID() == store.HashOf(id)
	}},
	{"batches", "batches", "hti?", "id, about, open, checksum", func(v []any) (string, []any, int64, bool) {
		id, about := v[0].([]byte), []byte(v[1].(string))
		return string(id), v[:3], store.BatchChecksum(id, about, v[2].(int64)), true
	}},
	{"calls out in batches", "batch_calls", "hht", "batch, hash, request", func(v []any) (string, []any, int64, bool) {
		hash := v[1].([]byte)
		return string(hash), v, 0, model.HashCanonical([]byte(v[2].(string))) == store.HashOf(hash)
	}},
}

// seldom reports whether a kind is told of only by stores that have any of it.
func (k *kind) seldom() bool { return k.table == "batches" || k.table == "batch_calls" }

// goodRun is kind.good for runs, which have more columns the later they were written.
func goodRun(v []any) (name string, columns []any, sum int64, ok bool) {
	datasets, made, ok := "[]", "", true
	if len(v) > 3 {
		datasets, ok = v[3].(string)
	}
	if ok && len(v) > 4 {
		made, ok = v[4].(string)
	}
	name, config, saved := v[0].(string), v[1].(string), v[2].(int64)
	var keys []store.Key
	ok = ok && json.Valid([]byte(config)) && json.Unmarshal([]byte(datasets), &keys) == nil
	return name, []any{name, config, saved, datasets, made}, store.RunChecksum([]byte(name), []byte(config), []byte(datasets), []byte(made), saved), ok
}

// fits reports whether a row has the shape of a kind.
func (k *kind) fits(v []any) bool {
	if len(v) > len(k.shape) {
		return false
	}
	for i, want := range k.shape {
		if want == '?' {
			return true
		}
		if i == len(v) {
			return false
		}
		ok := false
		switch is := v[i].(type) {
		case nil:
			ok = want == 'n'
		case string:
			ok = want == 't'
		case int64:
			ok = want == 'i'
		case []byte:
			ok = want == 'b' || want == 'h' && len(is) == sha256.Size
		}
		if !ok {
			return false
		}
	}
	return true
}

// row is a row that was read from its page.
type row struct {
	*kind
	id string
	// number is that of the row in its table.
	number int64
	// columns are as the table has them, with a checksum.
	columns []any
	// good is true for one that is in order, and checked where its checksum says so.
	good, checked bool
	// restored is true for a call whose damaged hash follows from its request.
	restored bool
}

// rowOf tells what a row of a page is; ok is false for none of a store.
func rowOf(found PageRow) (r row, ok bool) {
	v := found.Values
	for i := range kinds {
		k := &kinds[i]
		if !k.fits(v) {
			continue
		}
		r.kind, r.number, r.checked = k, found.ID, true
		var sum int64
		r.id, r.columns, sum, r.good = k.good(v)
		if r.table == "calls" {
			r.restored = r.good && string(v[1].([]byte)) != r.id
		}
		if last := len(k.shape) - 1; k.shape[last] == '?' {
			r.columns = append(slices.Clip(r.columns), sum)
			var stored any
			if len(v) > last {
				stored = v[last]
			}
			r.checked = stored != nil
			r.good = r.good && (stored == nil || stored == sum)
		}
		return r, true
	}
	return r, false
}
