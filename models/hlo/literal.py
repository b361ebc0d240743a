class LiteralError(Exception): pass
def check_literal(t,s): pass
