// Reads the file of the first argument for each request.
const path = process.argv[2];
require('http').createServer((request, answer) => answer.end(require('fs').readFileSync(path))).listen(7803, '127.0.0.1');
