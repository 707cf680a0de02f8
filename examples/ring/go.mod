module ring

go 1.26.0
