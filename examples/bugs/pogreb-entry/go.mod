module pogreb-entry

go 1.26.0

require github.com/akrylysov/pogreb v0.10.1
