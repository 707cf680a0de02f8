#!/bin/sh
# The name of a process is that of the path it was started by: of a script, a link.
cat /proc/$$/comm
sh -c 'cat /proc/$$/comm; readlink /proc/$$/exe | sed s,.*/,,'
cat > other <<'EOS'
#!/bin/sh -e
cat /proc/$$/comm
EOS
chmod +x other
./other
ln -s other third
./third
ln -s /bin/sh fourth
./fourth -c 'cat /proc/$$/comm'
