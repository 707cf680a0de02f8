// A panic ends the program with status 2.
package main

import "fmt"

func main() {
	fmt.Println("before")
	defer fmt.Println("deferred")
	panic("on purpose")
}
