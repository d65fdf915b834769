/** From Content-Disposition (RFC 6266), or else the last part of the path if it looks like a file name. */
export function filenameOf(disposition: string | undefined, url: string): string | undefined {
  return fromDisposition(disposition ?? '') ?? fromPath(new URL(url).pathname);
}

function fromDisposition(header: string): string | undefined {
  const extended = parameter(header, 'filename*=');
  const encoded = extended?.split("'")[2];
  const name = encoded === undefined ? parameter(header, 'filename=') : decoded(encoded);
  // Only the last part, because the sender must not choose the folder.
  const base = name?.split(/[/\\]/).at(-1)?.trim();
  return base ? base : undefined;
}

/** The value after `name` in `attachment; filename="a;b.txt"; size=1`. */
function parameter(header: string, name: string): string | undefined {
  const at = header.toLowerCase().indexOf(name);
  if (at < 0) return undefined;
  const value = header.slice(at + name.length);
  if (!value.startsWith('"')) return value.split(';')[0]?.trim();
  const end = value.indexOf('"', 1);
  return end < 0 ? value.slice(1) : value.slice(1, end);
}

function fromPath(pathname: string): string | undefined {
  const last = decoded(pathname.split('/').at(-1) ?? '');
  return last?.includes('.') && !last.startsWith('.') ? last : undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
