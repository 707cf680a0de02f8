#!/bin/sh
# Redirections, globs, tests, here documents, loops over files.
echo one > f; echo two >> f; cat f
mkdir -p d/e; touch d/b d/a d/e/c
echo d/*
ls -1 d
[ -d d/e ] && [ -f d/a ] && [ ! -e none ] && echo tests
cp f g; mv g h; ln -s h l; readlink l; cat l
exec 3> third; echo through three >&3; exec 3>&-; cat third
while read -r line; do echo "<$line>"; done < f
set -C; echo x > f 2>/dev/null; echo "noclobber $?"; set +C
cat none 2>/dev/null; echo "status $?"
mkfifo p; (echo through fifo > p &) ; cat p
tar cf t.tar d; rm -r d; tar xf t.tar; find d | sort
gzip -c f | gunzip
dd if=/dev/zero of=z bs=1000 count=3 2>/dev/null; wc -c < z
cmp z z && echo equal
md5sum f | cut -c1-8
rm -rf d f h l p t.tar third z; ls
