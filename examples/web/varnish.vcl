vcl 4.1;
backend default { .host = "web"; .port = "80"; }
