export const Bar = ({ used, of }: { used: number; of: number }) => (
  <span className="usage">
    <span className="usage-track" aria-hidden="true">
      <span
        className={of > 0 && used >= of ? 'full' : ''}
        style={{ width: `${Math.min(100, of > 0 ? (100 * used) / of : 0)}%` }}
      />
    </span>
    <span className="num muted">
      {used.toLocaleString()} of {of.toLocaleString()}
    </span>
  </span>
);
