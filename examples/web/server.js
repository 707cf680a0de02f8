// Answers with the path and its own name.
const http = require('http'), os = require('os');
http.createServer((q, r) => r.end(os.hostname() + ' has ' + q.url + '\n')).listen(80);
