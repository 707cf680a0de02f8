<%! int n; %>page <%= ++n %> of <%= request.getRequestURI() %>
