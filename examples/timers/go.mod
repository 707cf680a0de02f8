module timers

go 1.26

require planted v0.0.0

replace planted => ../planted
