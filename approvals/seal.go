package approvals

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"countersign/store"
)

// What keeps a sealed answer from being opened.
var (
	// ErrWrongKey means that it was sealed under another installation's key.
	ErrWrongKey = errors.New("the answer was sealed under another key than this installation's; put the right key file back")
	// ErrSeal means that it is damaged, or belongs to another request.
	ErrSeal = errors.New("the sealed answer is damaged")
)

// sealFormat starts every sealed text.
const sealFormat = "sealed1"

// Seal encrypts an answer under the installation's key, for the request of this
// id alone: AES-256-GCM with a fresh nonce and the id as additional data.
func Seal(key []byte, id string, answer []byte) (string, error) {
	aead, name, err := sealer(key)
	if err != nil {
		return "", err
	}
	nonce := make([]byte, aead.NonceSize())
	rand.Read(nonce)
	box := aead.Seal(nonce, nonce, answer, []byte(id))
	return strings.Join([]string{sealFormat, name, base64.RawStdEncoding.EncodeToString(box)}, ":"), nil
}

// Open decrypts what [Seal] gave. The error is [ErrWrongKey] or [ErrSeal].
func Open(key []byte, id, sealed string) ([]byte, error) {
	aead, name, err := sealer(key)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(sealed, ":")
	if len(parts) != 3 || parts[0] != sealFormat {
		return nil, fmt.Errorf("%s: %w", id, ErrSeal)
	}
	if parts[1] != name {
		return nil, fmt.Errorf("%s: %w", id, ErrWrongKey)
	}
	box, err := base64.RawStdEncoding.DecodeString(parts[2])
	if err != nil || len(box) < aead.NonceSize() {
		return nil, fmt.Errorf("%s: %w", id, ErrSeal)
	}
	answer, err := aead.Open(nil, box[:aead.NonceSize()], box[aead.NonceSize():], []byte(id))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", id, ErrSeal)
	}
	return answer, nil
}

// sealer returns the cipher of an installation's key, and a name by which the
// key is told from others and which says nothing about it.
func sealer(key []byte) (aead cipher.AEAD, name string, err error) {
	derived, err := hkdf.Key(sha256.New, key, nil, "countersign sealed answers", 32)
	if err != nil {
		return nil, "", fmt.Errorf("the sealing key: %w", err)
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, "", fmt.Errorf("the sealing key: %w", err)
	}
	aead, err = cipher.NewGCM(block)
	return aead, store.KeyName(key), err
}
