# etcd, by etcdctl.
servers=(n1 n2 n3)
ctl() { ETCDCTL_API=3 /spec/bin/etcdctl --endpoints "http://$1:2379" --command-timeout 3s "${@:2}" 2>/dev/null; }
prepare() { ctl "$1" get x >/dev/null; }
put() { ctl "$1" put x "$2" >/dev/null || return 2; }
get() { ctl "$1" get x --print-value-only || return 1; }
