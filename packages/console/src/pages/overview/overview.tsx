import { Page } from '../../ui/page.js';

export const Overview = () => <Page title="Overview">{null}</Page>;
