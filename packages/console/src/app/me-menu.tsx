import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ChevronsUpDown, Keyboard, LogOut, Monitor, Moon, Sun } from 'lucide-react';
import { logOut, useMe } from '../api/me.js';
import { Menu } from '../ui/menu.js';
import { useToast } from '../ui/toast.js';
import { turnShortcuts, useShortcutsOn } from './keys.js';
import { chooseTheme, useThemeChoice } from './theme.js';

export function MeMenu({ onHelp }: { onHelp(): void }) {
  const me = useMe();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const say = useToast();
  const theme = useThemeChoice();
  const shortcuts = useShortcutsOn();
  const leave = async () => {
    try {
      await logOut();
      queries.clear();
      await navigate({ to: '/login' });
    } catch (error) {
      say.problem('You are still signed in', error);
    }
  };
  if (!me) return null;
  const mark = (choice: string) => (theme === choice ? ' ✓' : '');
  return (
    <Menu
      align="start"
      trigger={
        <button type="button" className="me">
          <Avatar name={me.actor} />
          <span className="who grow">
            <span className="truncate">{me.actor}</span>
            <small className="truncate">
              {me.tenant} · {me.roles.includes('admin') ? 'admin' : me.roles.join(', ')}
            </small>
          </span>
          <ChevronsUpDown size={13} />
        </button>
      }
      items={[
        { heading: 'Theme' },
        { label: `System${mark('system')}`, icon: <Monitor />, onSelect: () => chooseTheme('system') },
        { label: `Light${mark('light')}`, icon: <Sun />, onSelect: () => chooseTheme('light') },
        { label: `Dark${mark('dark')}`, icon: <Moon />, onSelect: () => chooseTheme('dark') },
        'line',
        { label: 'Keyboard shortcuts', icon: <Keyboard />, onSelect: onHelp },
        {
          label: shortcuts ? 'Turn off single-key shortcuts' : 'Turn on single-key shortcuts',
          icon: <Keyboard />,
          onSelect: () => turnShortcuts(!shortcuts),
        },
        'line',
        { label: 'Sign out', icon: <LogOut />, onSelect: () => void leave() },
      ]}
    />
  );
}

export const Avatar = ({ name }: { name: string }) => (
  <span className="avatar" aria-hidden="true">
    {name.slice(0, 2).toUpperCase()}
  </span>
);
