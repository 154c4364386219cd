import { App } from './app.js';

void new App(document.body).start();
