module primarybackup

go 1.26.0
