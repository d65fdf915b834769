import { type ReactNode, useEffect } from 'react';

type PageProps = {
  title: string;
  /** Content next to the title, such as a status or a count. */
  beside?: ReactNode;
  crumb?: ReactNode;
  sub?: ReactNode;
  actions?: ReactNode;
  /** The content has its own padding and scrolling. */
  flush?: boolean;
  heading?: ReactNode;
  children: ReactNode;
};

export function Page({ title, beside, crumb, sub, actions, flush = false, heading, children }: PageProps) {
  usePageTitle(title);
  return (
    <div className="page">
      <header className="page-head">
        <div className="titles">
          {crumb ? <div className="crumb">{crumb}</div> : null}
          <div className="title-line">
            <h1>{heading ?? title}</h1>
            {beside}
          </div>
          {sub ? <div className="sub">{sub}</div> : null}
        </div>
        {actions ? <div className="actions">{actions}</div> : null}
      </header>
      {flush ? (
        <div className="page-body flush">{children}</div>
      ) : (
        // Makes the scrolling area reachable with the keyboard.
        <section className="page-body" tabIndex={0} aria-label={title}>
          {children}
        </section>
      )}
    </div>
  );
}

let waiting = 0;
let page = 'Capstan';
const show = () => {
  document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${page}`;
};

function usePageTitle(title: string): void {
  useEffect(() => {
    page = title === 'Capstan' ? title : `${title} · Capstan`;
    show();
  }, [title]);
}

/** The number of pending approvals, for the title of the tab. */
export function setWaiting(count: number): void {
  waiting = count;
  show();
}
