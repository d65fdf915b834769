import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { Menu as MenuIcon, Search, WifiOff } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useHoldCount } from '../api/holds.js';
import { setWaiting } from '../ui/page.js';
import { useKeys } from './keys.js';
import { LiveProvider, useLiveState } from './live.js';
import { MeMenu } from './me-menu.js';
import { useNotices } from './notices.js';
import { PAGE_GROUPS, PAGES } from './pages.js';
import { ShortcutsHelp } from './shortcuts-help.js';

const Palette = lazy(async () => ({ default: (await import('./palette.js')).Palette }));

export const Shell = () => (
  <LiveProvider>
    <Frame />
  </LiveProvider>
);

function Frame() {
  const navigate = useNavigate();
  const [palette, setPalette] = useState(false);
  const [help, setHelp] = useState(false);
  const [drawer, setDrawer] = useState(false);
  const waiting = useHoldCount();
  const count = waiting ?? 0;
  useNotices(waiting);
  const path = useRouterState({ select: ({ location }) => location.pathname });

  useEffect(() => setWaiting(count), [count]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page closes the drawer
  useEffect(() => setDrawer(false), [path]);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setPalette((open) => !open);
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  useKeys({
    '?': () => setHelp(true),
    ...Object.fromEntries(PAGES.map(({ key, to }) => [`g ${key}`, () => void navigate({ to })])),
  });

  return (
    <div className="shell">
      <a className="skip" href="#content">
        Skip to content
      </a>
      <div className="topbar">
        <Link to="/" className="brand">
          <img src="/capstan.svg" alt="" />
          Capstan
        </Link>
        <span className="push" />
        <LiveDot />
        <button type="button" className="button ghost icon" aria-label="Search" onClick={() => setPalette(true)}>
          <Search />
        </button>
      </div>
      <aside className={`sidebar ${drawer ? 'open' : ''}`}>
        <Link to="/" className="brand">
          <img src="/capstan.svg" alt="" />
          Capstan
        </Link>
        <button type="button" className="jump" onClick={() => setPalette(true)}>
          <Search />
          <span className="grow truncate">Search or go to</span>
          <kbd className="kbd">{navigator.platform.startsWith('Mac') ? '⌘K' : 'Ctrl K'}</kbd>
        </button>
        <nav className="stack" aria-label="Pages">
          {PAGE_GROUPS.map(({ title, pages }) => (
            <div className="nav-group" key={title}>
              {title ? <div className="nav-title">{title}</div> : null}
              {pages.map(({ to, label, icon: Icon }) => (
                <Link key={to} to={to} className="nav-link" activeProps={{ className: 'active' }}>
                  <Icon />
                  {label}
                  {to === '/approvals' && count > 0 ? <Count of={count} /> : null}
                </Link>
              ))}
            </div>
          ))}
        </nav>
        <div className="sidebar-foot">
          <LiveDot words />
          <MeMenu onHelp={() => setHelp(true)} />
        </div>
      </aside>
      <main className="main" id="content" tabIndex={-1}>
        <BehindBanner />
        <Outlet />
      </main>
      <nav className="bottombar" aria-label="Main pages">
        {PAGES.slice(0, 4).map(({ to, label, icon: Icon }) => (
          <Link key={to} to={to} activeProps={{ className: 'active' }}>
            <Icon />
            {label}
            {to === '/approvals' && count > 0 ? <Count of={count} /> : null}
          </Link>
        ))}
        <button type="button" aria-expanded={drawer} onClick={() => setDrawer(!drawer)}>
          <MenuIcon />
          More
        </button>
      </nav>
      {palette ? (
        <Suspense>
          <Palette onClose={() => setPalette(false)} />
        </Suspense>
      ) : null}
      {help ? <ShortcutsHelp onClose={() => setHelp(false)} /> : null}
    </div>
  );
}

const Count = ({ of }: { of: number }) => (
  <span className="count">
    {of > 999 ? '999+' : of}
    <span className="sr-only"> waiting</span>
  </span>
);

const LIVE = {
  live: ['green', 'Live'],
  connecting: ['grey', 'Connecting'],
  behind: ['amber', 'Reconnecting'],
} as const;

function LiveDot({ words = false }: { words?: boolean }) {
  const state = useLiveState();
  const [tone, text] = LIVE[state];
  return (
    <div className={`live tone-${tone}`} data-live={state}>
      <span className="dot" />
      <span className={words ? '' : 'sr-only'}>{text}</span>
    </div>
  );
}

function BehindBanner() {
  return useLiveState() === 'behind' ? (
    <div className="banner" role="status">
      <WifiOff />
      Connection lost. This page may be out of date; it is updated when the connection is back.
    </div>
  ) : null;
}
