package columns

import (
	"reflect"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	a, b, c, d, none := []uint8{1, 255}, []uint16{0, 65535, 3}, []uint32{1 << 31}, []uint64{1 << 63, 7}, []uint16{}
	text := Append([]byte("x"), &a, &b, &none, &c, &d)[1:]
	var a2 []uint8
	var b2, none2 []uint16
	var c2 []uint32
	var d2 []uint64
	if err := Read(text, &a2, &b2, &none2, &c2, &d2); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual([]any{a, b, c, d}, []any{a2, b2, c2, d2}) || len(none2) != 0 {
		t.Error(a2, b2, none2, c2, d2)
	}
	for cut := range text {
		if err := Read(text[:cut], &a2, &b2, &none2, &c2, &d2); err == nil {
			t.Errorf("%d bytes of %d are enough", cut, len(text))
		}
	}
}
