package main

import (
	"crypto/rand"
	"encoding/hex"
)

// sessionName names one run of this program in the audit log.
func sessionName() string {
	random := make([]byte, 6)
	rand.Read(random)
	return hex.EncodeToString(random)
}
