package review

import (
	"crypto/rand"
	"os"
	"path/filepath"

	"github.com/evolve-mcp/evolve/internal/redact"
)

// Fingerprinter makes the fingerprints of reports under the host's key in
// <git common dir>/evolve, which the first review makes. Where there is none, or
// where others could read it, a random key serves for this run.
func Fingerprinter(commonDir string) redact.Fingerprinter {
	key, ok := readFingerprintKey(filepath.Join(commonDir, folder))
	if !ok {
		key = randomKey()
	}
	return redact.NewFingerprinter(key)
}

func randomKey() []byte {
	key := make([]byte, redact.KeyBytes)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	return key
}

func readFingerprintKey(dir string) ([]byte, bool) {
	path := filepath.Join(dir, fingerprintKeyName)
	info, err := os.Lstat(path)
	if err != nil || !secret(info) || info.Size() != redact.KeyBytes {
		return nil, false
	}
	key, err := os.ReadFile(path)
	return key, err == nil && len(key) == redact.KeyBytes
}

// keepFingerprintKey makes the key if there is none, so that the fingerprints of
// one repository's reports compare from run to run. Where it cannot be written,
// they differ from run to run, and nothing else is lost.
func keepFingerprintKey(commonDir string) {
	dir := filepath.Join(commonDir, folder)
	if _, ok := readFingerprintKey(dir); ok || os.MkdirAll(dir, 0o700) != nil {
		return
	}
	_ = createSecret(dir, fingerprintKeyName, randomKey())
}
