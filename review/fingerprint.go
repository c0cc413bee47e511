package review

import (
	"crypto/rand"
	"os"
	"path/filepath"

	"github.com/evolve-mcp/evolve/internal/redact"
)

// fingerprintKeyBytes is the size of the fingerprint key: 256 bits.
const fingerprintKeyBytes = 32

// Fingerprinter makes the fingerprints of reports under the host's key in
// <git common dir>/evolve, which it makes if it can. Where it cannot, or where
// others could read the key, a random key serves for this run.
func Fingerprinter(commonDir string) redact.Fingerprinter {
	dir := filepath.Join(commonDir, folder)
	if key, ok := readFingerprintKey(dir); ok {
		return redact.NewFingerprinter(key)
	}
	key := make([]byte, fingerprintKeyBytes)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	return redact.NewFingerprinter(key)
}

func readFingerprintKey(dir string) ([]byte, bool) {
	path := filepath.Join(dir, fingerprintID)
	info, err := os.Lstat(path)
	const others = 0o077
	if err != nil || !info.Mode().IsRegular() || info.Size() != fingerprintKeyBytes || !windows && (info.Mode().Perm()&others != 0 || unsafe(info) != "") {
		return nil, false
	}
	key, err := os.ReadFile(path)
	return key, err == nil && len(key) == fingerprintKeyBytes
}

// MakeFingerprintKey makes the key if there is none, so that the fingerprints of
// one repository's reports compare from run to run. A directory that cannot be
// written is no error: fingerprints then differ from run to run.
func MakeFingerprintKey(commonDir string) {
	dir := filepath.Join(commonDir, folder)
	if _, ok := readFingerprintKey(dir); ok || os.MkdirAll(dir, 0o700) != nil {
		return
	}
	key := make([]byte, fingerprintKeyBytes)
	_, _ = rand.Read(key)
	_ = create(dir, fingerprintID, key)
}
