-- One host, accounts in files, no encryption: the client logs in with its password.
daemonize = false
pidfile = "/run/prosody/prosody.pid"
data_path = "/var/lib/prosody"
log = { info = "*console" }
c2s_require_encryption = false
allow_unencrypted_plain_auth = true
authentication = "internal_plain"
storage = "internal"
c2s_ports = { 5222 }
s2s_ports = { 5269 }
interfaces = { "*" }
modules_enabled = { "roster", "saslauth", "disco", "offline", "ping" }
modules_disabled = { "s2s", "tls" }
VirtualHost "server"
