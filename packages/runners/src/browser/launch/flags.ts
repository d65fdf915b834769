/**
 * Added to Playwright's own flags. All requests of a page go to the proxy of its context. These flags close the ways around it: DNS lookups by the
 * browser, UDP, and requests that the browser makes on its own.
 */
export const FLAGS = [
  // The browser resolves no names, because the proxy is an IP address. A direct connection by name would fail.
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  '--proxy-bypass-list=<-loopback>',
  '--disable-quic',
  '--dns-prefetch-disable',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-blink-features=WebTransport,RTCRtpTransport,DirectSockets,Prerender2',
  '--no-pings',
  '--disable-domain-reliability',
  '--disable-print-preview',
  '--disable-notifications',
  '--disable-gpu',
  '--disable-webgl',
  '--mute-audio',
  '--disk-cache-size=33554432',
  // A page that needs more memory crashes instead of exhausting the machine.
  '--js-flags=--max-old-space-size=512',
];

/** For the browser's own requests, which should not go anywhere: no proxy listens at this address. */
export const NOWHERE = 'http://127.0.0.1:1';
