import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** What proxies add to a request, beside all that begins with `x-forwarded`. */
const forwardingHeaders = new Set([
  'cf-connecting-ip',
  'client-ip',
  'forwarded',
  'forwarded-for',
  'true-client-ip',
  'via',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-envoy-external-address',
  'x-original-forwarded-for',
  'x-original-host',
  'x-real-ip',
]);

/** Whether an IP address, as sockets and hosts in URLs name it, is one of this machine's loopback. */
export function isLoopback(address: string | undefined): boolean {
  const bare = (address ?? '').replaceAll('[', '').replaceAll(']', '');
  const plain = bare.toLowerCase().startsWith('::ffff:') ? bare.slice('::ffff:'.length) : bare;
  const family = isIP(plain);
  return family !== 0 && loopback.check(plain, family === 6 ? 'ipv6' : 'ipv4');
}

/** Whether a proxy says that it passed a request on: then its peer is not who asks. */
function isForwarded(headers: IncomingHttpHeaders): boolean {
  return Object.keys(headers).some(
    (name) => name.startsWith('x-forwarded') || forwardingHeaders.has(name),
  );
}

/** Whether a request began on this machine: over loopback, at both ends, and through no proxy. */
export function isFromThisMachine({ headers, socket }: IncomingMessage): boolean {
  const { localAddress, remoteAddress } = socket;
  return isLoopback(localAddress) && isLoopback(remoteAddress) && !isForwarded(headers);
}
