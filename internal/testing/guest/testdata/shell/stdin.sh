#!/bin/sh
# What comes on standard input, and its end.
# guest: stdin some input words
read -r a b
echo "$a/$b"
read -r c; echo "status $?"
