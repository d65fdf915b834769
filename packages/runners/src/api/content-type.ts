/** `text/html; charset="utf-8"` → `text/html` and `utf-8`. */
export function parseContentType(header: string | undefined): { type: string; charset: string | undefined } {
  const [type = '', ...parameters] = (header ?? '').split(';').map((part) => part.trim());
  const charset = parameters.find((part) => part.toLowerCase().startsWith('charset='))?.slice('charset='.length);
  return { type: type.toLowerCase(), charset: charset?.replaceAll('"', '') || undefined };
}

const BINARY_FAMILIES = ['image/', 'audio/', 'video/', 'font/', 'model/'];
const BINARY_TYPES = new Set([
  'application/octet-stream',
  'application/pdf',
  'application/zip',
  'application/gzip',
  'application/x-gzip',
  'application/x-tar',
  'application/x-bzip2',
  'application/x-7z-compressed',
  'application/x-rar-compressed',
  'application/vnd.rar',
  'application/java-archive',
  'application/wasm',
  'application/msword',
  'application/protobuf',
  'application/x-protobuf',
]);
const BINARY_TREES = ['application/vnd.openxmlformats-', 'application/vnd.ms-', 'application/vnd.oasis.'];

/** Judges by the type alone. SVG is an image, but text. */
export const isBinaryType = (type: string): boolean =>
  type !== 'image/svg+xml' &&
  (BINARY_TYPES.has(type) || [...BINARY_FAMILIES, ...BINARY_TREES].some((start) => type.startsWith(start)));

export const isHtmlType = (type: string): boolean => type === 'text/html' || type === 'application/xhtml+xml';
export const isJsonType = (type: string): boolean => type === 'application/json' || type.endsWith('+json');

/** Byte order marks, which override any header (Encoding standard, BOM sniff). */
const MARKS = [
  { mark: [0xef, 0xbb, 0xbf], label: 'utf-8' },
  { mark: [0xfe, 0xff], label: 'utf-16be' },
  { mark: [0xff, 0xfe], label: 'utf-16le' },
];
const markedAs = (bytes: Uint8Array): string | undefined =>
  MARKS.find(({ mark }) => mark.every((byte, at) => bytes[at] === byte))?.label;

const SNIFFED_BYTES = 4096;
/** For types that leave it open: text contains no NUL, except in UTF-16. */
export const looksBinary = (bytes: Uint8Array, charset: string | undefined): boolean =>
  !(markedAs(bytes) ?? charset)?.toLowerCase().startsWith('utf-16') && bytes.subarray(0, SNIFFED_BYTES).includes(0);

const META_CHARSET = /<meta[^>]{0,200}charset\s{0,5}=\s{0,5}["']?([a-zA-Z0-9_-]{1,40})/i;

/** Decodes by the byte order mark, else the header's charset, else the charset that the page declares, else UTF-8. */
export function decodeText(bytes: Uint8Array, charset: string | undefined, type: string): string {
  const inPage = isHtmlType(type)
    ? META_CHARSET.exec(Buffer.from(bytes.subarray(0, 2048)).toString('latin1'))?.[1]
    : undefined;
  for (const label of [markedAs(bytes), charset, inPage]) {
    try {
      if (label) return new TextDecoder(label).decode(bytes);
    } catch {
      // An unknown charset.
    }
  }
  return new TextDecoder().decode(bytes);
}
