import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.js';
import { applyTheme } from './app/theme.js';
import './style/tokens.css';
import './style/base.css';
import './style/controls.css';
import './style/layout.css';

applyTheme();
const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
