package runtime

import (
	"os"
	"path/filepath"
	"strings"
)

// executable finds a program by its path, with or without an ending of PATHEXT.
func executable(path string, lookup func(string) (string, bool)) (string, bool) {
	endings, _ := lookup("PATHEXT")
	if endings == "" {
		endings = ".COM;.EXE;.BAT;.CMD"
	}
	for _, ending := range append([]string{""}, strings.Split(endings, ";")...) {
		if ending == "" && filepath.Ext(path) == "" {
			continue
		}
		if info, err := os.Stat(path + ending); err == nil && info.Mode().IsRegular() {
			return path + ending, true
		}
	}
	return "", false
}

// allowedEnv are the variables of the host that a child gets: those of every
// system, and without which programs do not start on Windows.
var allowedEnv = []string{
	"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "COLORTERM", "TMPDIR", "TMP", "TEMP", "TZ",
	"SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
	"ProgramData", "ProgramFiles", "ProgramFiles(x86)", "CommonProgramFiles",
}

// homeEnv are the variables that name the private home.
func homeEnv(home string) []string {
	return []string{
		"HOME=" + home, "USERPROFILE=" + home,
		"APPDATA=" + filepath.Join(home, "AppData", "Roaming"), "LOCALAPPDATA=" + filepath.Join(home, "AppData", "Local"),
	}
}
