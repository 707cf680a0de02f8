// Two workers share a port; the first process hands connections to them in turn.
const cluster = require('cluster'), http = require('http');
if (cluster.isPrimary) {
	cluster.fork();
	cluster.fork();
	cluster.on('exit', () => process.exit(1));
} else {
	http.createServer((q, r) => r.end('worker ' + cluster.worker.id + '\n')).listen(80);
}
