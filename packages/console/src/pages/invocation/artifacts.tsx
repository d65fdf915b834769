import type { Artifact } from '@capstan/contracts';
import { Download } from 'lucide-react';
import { SafeText } from '../../ui/safe-text.js';

/** Image types that cannot contain scripts. SVG can. */
const PICTURES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const MAX_INLINE_BYTES = 20_000_000;

const size = (bytes: number): string =>
  bytes < 1024
    ? `${bytes} B`
    : bytes < 1_048_576
      ? `${(bytes / 1024).toFixed(1)} kB`
      : `${(bytes / 1_048_576).toFixed(1)} MB`;

export const Artifacts = ({ of }: { of: readonly Artifact[] }) =>
  of.length === 0 ? null : (
    <section className="stack">
      <h3>Artifacts</h3>
      {of.map(({ sha256, name, media_type, size: bytes }) => (
        <figure key={sha256} className="artifact">
          <figcaption className="row wrap">
            <a className="row" href={`/v1/artifacts/${sha256}`} download={name}>
              <Download size={14} />
              <SafeText text={name} />
            </a>
            <span className="muted">
              <SafeText text={media_type} /> · {size(bytes)}
            </span>
          </figcaption>
          {PICTURES.has(media_type) && bytes < MAX_INLINE_BYTES ? (
            <img src={`/v1/artifacts/${sha256}`} alt={name} loading="lazy" />
          ) : null}
        </figure>
      ))}
    </section>
  );
