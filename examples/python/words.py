def answer(path):
    return "hello from %s\n" % path
