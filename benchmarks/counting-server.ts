// A program that takes uploads and keeps nothing of them: it prints its port, and answers with the
// SHA-256 of the file that came.
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';

const server = createServer((request, response) => {
  hashOfFilePart(request).then(
    (sha256) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ status: 'ok', batch_uuid: randomUUID(), sha256 }));
    },
    () => request.destroy(),
  );
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(typeof address === 'object' ? address?.port : address);
});

/** The file is the form's last part: what is between its head and the closing boundary. */
async function hashOfFilePart(request: IncomingMessage): Promise<string> {
  const hash = createHash('sha256');
  const boundary = request.headers['content-type']?.split('boundary=')[1] ?? '';
  let left = Number(request.headers['content-length']) - `\r\n--${boundary}--\r\n`.length;
  let head = Buffer.alloc(0);
  let isInFile = false;
  for await (const chunk of request) {
    let bytes = chunk as Buffer;
    if (!isInFile) {
      head = bytes = Buffer.concat([head, bytes]);
      const name = head.indexOf('; filename=');
      const begin = name === -1 ? -1 : head.indexOf('\r\n\r\n', name);
      if (begin === -1) continue;
      isInFile = true;
      bytes = head.subarray(begin + 4);
      left -= begin + 4;
    }
    hash.update(bytes.subarray(0, Math.max(0, left)));
    left -= bytes.length;
  }
  return hash.digest('hex');
}
