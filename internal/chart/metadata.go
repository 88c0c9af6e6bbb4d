package chart

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
)

// pngHead is the length in bytes of a PNG's signature and first chunk.
const pngHead = 8 + 25

// writePNG writes a PNG with a description, in a chunk of type iTXt (text in
// UTF-8) after the first chunk. An empty description is left out.
func writePNG(w io.Writer, png []byte, about string) error {
	if about == "" || len(png) < pngHead {
		_, err := w.Write(png)
		return err
	}
	const kind = "iTXt"
	// The keyword, followed by no compression, no language and no translated
	// keyword.
	body := []byte(kind + "Description\x00\x00\x00\x00\x00" + about)
	var chunk bytes.Buffer
	chunk.Write(binary.BigEndian.AppendUint32(nil, uint32(len(body)-len(kind))))
	chunk.Write(body)
	chunk.Write(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(body)))
	for _, part := range [][]byte{png[:pngHead], chunk.Bytes(), png[pngHead:]} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}
