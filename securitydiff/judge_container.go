package securitydiff

import (
	"strings"

	"github.com/evolve-mcp/evolve/internal/redact"
)

// judgeContainer: options that give a container powers of its host.
func judgeContainer(v *verdicts, before, after *view) {
	if !after.isContainer() {
		return
	}
	old := map[string]bool{}
	if before != nil {
		for _, o := range containerOptions(before.args) {
			old[o.name+"\x00"+o.value] = true
		}
	}
	for _, o := range containerOptions(after.args) {
		if old[o.name+"\x00"+o.value] {
			continue
		}
		judgeContainerOption(v, o)
	}
}

func (w *view) isContainer() bool {
	if newRunner(w.program).container {
		return true
	}
	for _, a := range w.args {
		if newRunner(programName(a.raw)).container {
			return true
		}
	}
	return false
}

type containerOption struct {
	name, value string
	field       redact.Shown
}

func containerOptions(args []arg) []containerOption {
	var out []containerOption
	for i, a := range args {
		if a.kind == argImage {
			break // what follows is the container's own command
		}
		if a.kind != argOption {
			continue
		}
		o := containerOption{name: a.option, field: argField(i, &args[i])}
		if _, value, ok := strings.Cut(a.raw, "="); ok && strings.HasPrefix(a.raw, "--") {
			o.value = value
		} else if len(a.raw) > 2 && a.raw[1] != '-' {
			o.value = a.raw[2:]
		} else if i+1 < len(args) {
			o.value = args[i+1].raw
		}
		out = append(out, o)
	}
	return out
}

// dangerousCaps are capabilities that amount to root on the host
// (capabilities(7)).
var dangerousCaps = set("all sys_admin sys_ptrace sys_module sys_rawio dac_override dac_read_search net_admin net_raw bpf perfmon")

func judgeContainerOption(v *verdicts, o containerOption) {
	value := strings.ToLower(o.value)
	switch o.name {
	case "--privileged":
		if value != "false" {
			v.add("container-privileged", Critical, o.field)
		}
	case "--cap-add":
		if dangerousCaps[strings.TrimPrefix(value, "cap_")] {
			v.add("container-privileged", Critical, o.field)
		}
	case "--security-opt":
		if strings.Contains(value, "unconfined") || strings.Contains(value, "label=disable") || strings.Contains(value, "label:disable") {
			v.add("container-privileged", Critical, o.field)
		}
	case "--device":
		v.add("container-privileged", Critical, o.field)
	case "--network", "--net":
		if value == "host" || strings.HasPrefix(value, "container:") {
			v.add("host-network", High, o.field)
		}
	case "--pid", "--ipc", "--uts", "--userns", "--cgroupns":
		if value == "host" {
			v.add("container-privileged", Critical, o.field)
		}
	case "-v", "--volume", "--mount":
		if hostMount(o.value) {
			v.add("host-mount", Critical, o.field)
		}
	}
}

// mountSource is the host's side of -v SOURCE:TARGET or --mount source=SOURCE,...
func mountSource(spec string) string {
	for _, part := range strings.Split(spec, ",") {
		if name, value, ok := strings.Cut(part, "="); ok && (name == "source" || name == "src") {
			return value
		}
	}
	drive := ""
	if windowsPath.MatchString(spec) {
		drive, spec = spec[:2], spec[2:]
	}
	source, _, _ := strings.Cut(spec, ":")
	return drive + source
}

// hostMount: a source that holds the host's own files or control sockets.
func hostMount(spec string) bool {
	source := mountSource(spec)
	if strings.Contains(source, ".sock") {
		return true
	}
	trimmed := strings.TrimRight(source, `/\`)
	if trimmed == "" {
		return strings.ContainsAny(source, `/\`)
	}
	if broadRoots[trimmed] {
		return true
	}
	for _, root := range []string{"/etc", "/root", "/proc", "/sys", "/dev", "/boot", "/var/run", "/run", "/var/lib/docker", "~/.ssh", "~/.aws", "$HOME/.ssh"} {
		if trimmed == root || strings.HasPrefix(trimmed, root+"/") {
			return true
		}
	}
	return strings.HasSuffix(trimmed, "/.ssh") || strings.HasSuffix(trimmed, "/.aws") || strings.HasSuffix(trimmed, "/.kube")
}
