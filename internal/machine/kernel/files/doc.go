// Package files has no code. Packages below it are what the emulated kernel knows of files: how
// they look, who has locked or watches them, reads and writes that take time, and files of /proc.
// They may import the kernel's core, packages below it and leaf; inode is below the core.
package files
