module twofaults

go 1.26
