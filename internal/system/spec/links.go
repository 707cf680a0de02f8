package spec

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// links lists what commands name of the files beside the spec: a user means those by a relative
// name, as if the command ran there. For a directory it lists the files in it, and names may begin
// there, as after cd. Files to which a shell writes are left out.
func (r *reader) links(commands []text) []string {
	var list []string
	add := func(name string) {
		if info, err := os.Stat(filepath.Join(r.dir, name)); err == nil && (info.IsDir() || info.Mode().IsRegular()) {
			list = append(list, name)
		}
	}
	for _, c := range commands {
		all := words(c.string)
		if exact, shell, err := split(strings.TrimSpace(c.string)); !shell && err == nil && len(exact) > 0 {
			all = exact[1:] // the program itself is found anyway
			for _, word := range exact[1:] {
				all = append(all, words(word)...)
			}
		}
		names := relativeNames(all)
		from := []string{"."}
		for _, name := range names {
			if filepath.IsLocal(name) && isDir(filepath.Join(r.dir, name)) {
				from = append(from, name)
				names = append(names, name+"/*")
			}
		}
		for _, dir := range from {
			for _, name := range names {
				name = filepath.Join(dir, name)
				switch {
				case !filepath.IsLocal(name) || isDir(filepath.Join(r.dir, name)):
				case strings.ContainsAny(name, "*?["):
					// a bad pattern names nothing
					found, _ := filepath.Glob(filepath.Join(r.dir, name))
					for _, f := range found {
						add(strings.TrimPrefix(f, r.dir+"/"))
					}
				default:
					add(name)
				}
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// relativeNames are what may be names of files in the directory in which a command
// runs: words of it, what stands behind = in one, the parts of lists.
func relativeNames(words []string) []string {
	var names []string
	for _, word := range words {
		for _, part := range append(strings.FieldsFunc(word, func(c rune) bool {
			return strings.ContainsRune("=:,@", c)
		}), word) {
			if part = filepath.Clean(part); part != "." && !filepath.IsAbs(part) {
				names = append(names, part)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// words cuts a command line at blanks and at what is a shell's outside and inside
// quotes, and leaves out where output goes: a command within quotes has words too.
func words(line string) []string {
	var out []string
	var word strings.Builder
	written := false // the word is what > writes to
	end := func() {
		if word.Len() > 0 && !written {
			out = append(out, word.String())
		}
		if word.Len() > 0 {
			written = false
		}
		word.Reset()
	}
	for _, c := range line {
		switch {
		case c == '>':
			word.Reset() // nothing, or the number of a descriptor
			written = true
		case strings.ContainsRune(" \t\n|&;<()$`'\"{}", c):
			end()
		default:
			word.WriteRune(c)
		}
	}
	end()
	return out
}
